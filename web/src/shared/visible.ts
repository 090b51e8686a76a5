/**
 * Characters that change how the text around them looks and are not seen themselves: controls, those that reorder text (with U+202E
 * before it, "nimda" reads "admin"; Unicode Technical Standard 39), and spaces without a width. Marks of direction and joiners, which
 * Arabic, Hebrew, Persian and emoji need, are not among them.
 */
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g;

const hexOf = (character: string): string => (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");

/** The text with the code of each character that is not seen: `⟨U+202E⟩`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => `⟨U+${hexOf(character)}⟩`);
}

/** The same within JSON, which stays the same value: `\u202E`. */
export function visibleInJson(json: string): string {
  return json.replace(UNSEEN, (character) => `\\u${hexOf(character)}`);
}
