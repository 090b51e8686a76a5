// The same with WorkOS, as documented; it is counted, not run.
// https://workos.com/docs/reference/audit-logs/event/create, https://workos.com/docs/audit-logs/admin-portal
// https://workos.com/docs/audit-logs: its events are not meant for alerting. The application counts.
import { WorkOS } from "@workos-inc/node";
import express from "express";

const [WINDOW_MS, FAILURES] = [300_000, 5];
const workos = new WorkOS(process.env.WORKOS_API_KEY);
const failures = new Map();
const app = express();
app.post("/login", async (request, response) => {
  const isRight = request.header("X-Password") === "right";
  response.sendStatus(isRight ? 204 : 401);
  const [id, organization] = [request.header("X-User"), request.header("X-Customer")];
  await workos.auditLogs.createEvent(organization, {
    action: isRight ? "auth.succeeded" : "auth.failed",
    occurredAt: new Date(),
    actor: { type: "user", id },
    targets: [{ type: "user", id }],
    context: { location: request.ip, userAgent: request.header("User-Agent") },
  });
  if (!isRight) {
    const key = `${organization}/${id}`;
    const recent = (failures.get(key) ?? []).filter((at) => at > Date.now() - WINDOW_MS).concat(Date.now());
    failures.set(key, recent);
    if (recent.length === FAILURES) {
      await fetch(process.env.PAGER_URL, { method: "POST", body: JSON.stringify({ actor: id, failures: FAILURES }) });
    }
  }
});
app.get("/audit-log", async (request, response) => {
  const { link } = await workos.portal.generateLink({ organization: request.header("X-Customer"), intent: "audit_logs" });
  response.redirect(link);
});
