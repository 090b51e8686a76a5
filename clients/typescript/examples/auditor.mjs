// Verifies that the log continues the checkpoint that was stored last time, and stores the new one. Run it every hour, on another machine.
//
//     AUDIT_URL=… AUDIT_KEY=pk_live_… AUDIT_LOG_KEY="$(cat key.txt)" node auditor.mjs checkpoint.txt
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { AuditClient } from "audit-server-client";
import { openCheckpoint, verifyConsistency } from "audit-server-client/verify";

const { AUDIT_URL: baseUrl, AUDIT_KEY: apiKey, AUDIT_LOG_KEY: key } = process.env;
const [file] = process.argv.slice(2);
const { log } = new AuditClient({ baseUrl, apiKey });

const note = await log.checkpoint();
const to = await openCheckpoint(note, key);
if (existsSync(file)) {
  const from = await openCheckpoint(readFileSync(file, "utf8"), key, to.origin);
  const { consistency } = await log.consistency(from.size, to.size);
  await verifyConsistency({ from, to, hashes: consistency.map((hash) => Buffer.from(hash, "base64")) });
  console.log(`${to.origin}: ${to.size} events continue the ${from.size} of last time`);
} else {
  console.log(`${to.origin}: ${to.size} events, the first checkpoint`);
}
writeFileSync(`${file}.new`, note);
renameSync(`${file}.new`, file);
