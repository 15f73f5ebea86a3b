export type Theme = { [name: string]: string | number | Theme };

const STANDARD: Theme = {
  colours: { text: '#222222', page: '#ffffff', accent: '#0b6e4f' },
  spacing: { small: 4, large: 16 },
};

/** A number of a theme, in pixels. */
export function pixels(theme: Theme, name: string): number {
  const value = theme[name];
  return typeof value === 'number' ? value : 0;
}

function isTheme(value: unknown): value is Theme {
  return typeof value === 'object' && value !== null;
}

function overlay(below: Theme, above: Theme): Theme {
  for (const name of Object.keys(above)) {
    const [under, over] = [below[name], above[name]];
    below[name] = isTheme(under) && isTheme(over) ? overlay(under, over) : over;
  }
  return below;
}

/** The standard theme with what a tenant changes. */
export function themeOf(request: { body: string }): Theme {
  return overlay(structuredClone(STANDARD), JSON.parse(request.body) as Theme);
}
