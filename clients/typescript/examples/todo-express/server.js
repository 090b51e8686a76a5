// AUDIT_URL, AUDIT_KEY (a live project key), AUDIT_LOG_KEY (the key of the log), PORT, SPOOL
import { createApp } from "./app.js";

const { AUDIT_URL = "http://127.0.0.1:8080", AUDIT_KEY, AUDIT_LOG_KEY, PORT = "3000", SPOOL = "spool" } = process.env;
const { app, audit } = await createApp({
  baseUrl: AUDIT_URL,
  apiKey: AUDIT_KEY,
  spoolDirectory: SPOOL,
  logKey: AUDIT_LOG_KEY,
});
const server = app.listen(Number(PORT), "127.0.0.1", () => console.log(`http://127.0.0.1:${PORT}/?user=alice@acme`));
process.once("SIGTERM", () => {
  // The requests end first; then what they have recorded is sent, or stays in the spool.
  server.close(async () => {
    await audit.close({ deadlineMs: 10_000 });
    process.exit();
  });
});
