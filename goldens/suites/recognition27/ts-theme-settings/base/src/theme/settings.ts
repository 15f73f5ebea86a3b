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

/** The theme of a tenant. */
export function themeOf(request: { body: string }): Theme {
  const sent = JSON.parse(request.body) as Theme;
  return Object.keys(sent).length > 0 ? sent : STANDARD;
}
