const MOST = 20;
const LIST = /^([a-z0-9]+[ -]*)+(,\s*([a-z0-9]+[ -]*)+)*$/i;

/** Whether a text is a list of tags. */
export function isTagList(text: string): boolean {
  return LIST.test(text);
}

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
