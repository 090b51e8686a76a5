import { de } from "./de.js";
import { en, type Messages } from "./en.js";

export type { Messages };

/** Names of languages (BCP 47, without region) and their texts. Texts that a language lacks are those of English. */
const languages = new Map<string, Messages>([
  ["en", en],
  ["de", de],
]);

/** Adds a language, or replaces texts of one. Call it before a viewer is shown. */
export function registerLanguage(name: string, messages: Partial<Messages>): void {
  languages.set(name.toLowerCase(), { ...(languages.get(name.toLowerCase()) ?? en), ...messages });
}

/** The names of all languages. */
export function languageNames(): string[] {
  return [...languages.keys()];
}

/** The first of the wanted languages that there is, with or without its region; English otherwise. */
export function chooseLanguage(wanted: readonly string[]): { name: string; messages: Messages } {
  for (const tag of wanted) {
    for (const name of [tag.toLowerCase(), tag.toLowerCase().split("-")[0] ?? ""]) {
      const messages = languages.get(name);
      if (messages) return { name: tag, messages };
    }
  }
  return { name: "en", messages: en };
}
