// Shows the events of the signed-in user's organization, and verifies each against the key of the log.
import { AuditViewer } from "./client/browser.js";

const response = await fetch(`audit-access${location.search}`);
const { baseUrl, token, logKey } = await response.json();
const viewer = new AuditViewer({ baseUrl, token });
const { events } = await viewer.list({ limit: 20 });
for (const event of events) {
  const row = document.querySelector("tbody").insertRow();
  const texts = [event.occurred_at, event.actor.name ?? event.actor.id, event.action, event.target?.id ?? ""];
  for (const text of [...texts, await proofOf(event.id)]) {
    row.insertCell().textContent = text;
  }
}

async function proofOf(id) {
  try {
    const { seq, checkpoint } = await viewer.verify(id, { key: logKey });
    return `verified: event ${seq + 1} of ${checkpoint.size}`;
  } catch (error) {
    return `NOT VERIFIED: ${error.message}`;
  }
}
