const MOST = 20;

/** The tags of a list, without doubles. */
export function parseTags(text: string): string[] {
  const tags = text
    .split(',')
    .map((tag) => tag.trim().toLowerCase())
    .filter((tag) => tag.length > 0);
  return [...new Set(tags)].slice(0, MOST);
}

/** A list of tags as it stands in the form. */
export function formatTags(tags: readonly string[]): string {
  return tags.join(', ');
}
