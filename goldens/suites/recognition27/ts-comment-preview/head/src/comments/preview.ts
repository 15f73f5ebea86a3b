export interface Draft {
  readonly author: string;
  readonly text: string;
}

const MOST_CHARACTERS = 2000;

/** How many characters are left. */
export function remaining(draft: Draft): number {
  return MOST_CHARACTERS - draft.text.length;
}

/** Show how many characters are left. */
export function showRemaining(target: HTMLElement, draft: Draft): void {
  target.textContent = `${remaining(draft)} characters left`;
  target.classList.toggle('over', remaining(draft) < 0);
}

/** Show the comment as readers will see it. */
export function showPreview(target: HTMLElement, draft: Draft): void {
  const paragraphs = draft.text.split('\n').map((line) => `<p>${line}</p>`);
  target.innerHTML = `<strong>${draft.author}</strong>${paragraphs.join('')}`;
}
