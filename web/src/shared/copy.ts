/**
 * Copies text, and returns whether it was copied. A page on plain HTTP has no `navigator.clipboard` (W3C Secure Contexts): there
 * the command of the document copies, which needs no selection because the event of the command sets the text.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

function copyByCommand(text: string): boolean {
  let isCopied = false;
  const onCopy = (event: ClipboardEvent): void => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    isCopied = true;
  };
  document.addEventListener("copy", onCopy, { capture: true, once: true });
  const isDone = document.execCommand("copy");
  document.removeEventListener("copy", onCopy, { capture: true });
  return isDone && isCopied;
}
