/** What a form has. */

/** The fields of a submitted form; empty ones are absent. */
export function fieldsOf(event: SubmitEvent): Record<string, string> {
  event.preventDefault();
  return fieldsIn(event.target as HTMLFormElement);
}

/** The fields of a form as they are now; empty ones are absent. */
export function fieldsIn(form: HTMLFormElement): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string" && value.trim() !== "") fields[name] = value.trim();
  }
  return fields;
}

/** The values of a text, separated by lines or commas, or by lines alone. */
export function listOf(text: string | undefined, separator: RegExp = /[\n,]/): string[] {
  return (text ?? "").split(separator).map((item) => item.trim()).filter((item) => item !== "");
}
