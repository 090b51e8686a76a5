/** The language of the console: that of the reader's choice, or of the browser. There is one console on a page, so its texts are of this module. */
import type { ReactiveControllerHost } from "lit";
import { chooseLanguage, type Messages as ViewerMessages } from "../../viewer/languages/index.js";
import { en, type Messages } from "./en/index.js";

/** The languages. Each but English is loaded when it is chosen. */
const LANGUAGES: Record<string, () => Promise<Messages>> = {
  en: () => Promise.resolve(en),
  de: () => import("./de/index.js").then(({ de }) => de),
};
/** The choice is in the storage of this browser and nowhere else. */
const STORED = "audit-log-language";

/** The languages, each with its own name. */
export const LANGUAGE_NAMES = Object.keys(LANGUAGES).map((name) => [name, new Intl.DisplayNames([name], { type: "language" }).of(name) ?? name] as const);

/** The name of the language that is shown. */
export let language = "en";
/** The texts of the language. */
export let t: Messages = en;
/** The texts that the viewer has in this language. */
export let viewerTexts: ViewerMessages = chooseLanguage([]).messages;
/** The language with the region of the browser, if it has one of this language. */
export let locale = "en";
export let numbers = new Intl.NumberFormat(locale);
export let dates = new Intl.DateTimeFormat(locale);

const shown = new Set<ReactiveControllerHost>();

/** Renders the element again when the language changes. */
export function followLanguage(host: ReactiveControllerHost): void {
  host.addController({ hostConnected: () => shown.add(host), hostDisconnected: () => shown.delete(host) });
}

let wanted = language;

/** Shows the texts, numbers and dates of a language. Without its texts, which the server may not send now, the language stays. */
export async function showLanguage(name: string): Promise<void> {
  wanted = name;
  const texts = await LANGUAGES[name]?.().catch(() => undefined);
  // Another one may have been chosen meanwhile.
  if (!texts || wanted !== name) return;
  const regional = navigator.languages.find((tag) => tag.split("-")[0] === name);
  ({ name: locale, messages: viewerTexts } = chooseLanguage([regional ?? name]));
  [language, t] = [name, texts];
  numbers = new Intl.NumberFormat(locale);
  dates = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
  document.documentElement.lang = name;
  for (const host of shown) host.requestUpdate();
}

/** Shows a language, and remembers it where the browser lets the page. */
export async function chooseAndRemember(name: string): Promise<void> {
  await showLanguage(name);
  if (language !== name) return;
  try {
    localStorage.setItem(STORED, language);
  } catch {
    // Refused or full: nothing is remembered.
  }
}

/** The language that was chosen before, or the first one of the browser that there is. */
export function preferredLanguage(): string {
  let stored: string | null = null;
  try {
    stored = localStorage.getItem(STORED);
  } catch {
    // Refused: nothing is there.
  }
  return [stored ?? "", ...navigator.languages].map((tag) => tag.split("-")[0] ?? "").find((name) => Object.hasOwn(LANGUAGES, name)) ?? "en";
}
