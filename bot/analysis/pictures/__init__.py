"""Results as pictures: SVG whose text is text, readable in light and dark, without colour, and by a screen reader."""
