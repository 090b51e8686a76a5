// The same with WorkOS, as documented; it is counted, not run.
// https://workos.com/docs/reference/audit-logs/event/create, https://workos.com/docs/audit-logs/admin-portal: no method returns a list of events, so the list is its page.
// The schema of invoice.deleted is created in its dashboard first.
import { WorkOS } from "@workos-inc/node";
import express from "express";

const workos = new WorkOS(process.env.WORKOS_API_KEY);
const app = express();
app.delete("/invoices/:invoice", async (request, response) => {
  response.json({ deleted: request.params.invoice });
  await workos.auditLogs.createEvent(request.header("X-Customer"), {
    action: "invoice.deleted",
    occurredAt: new Date(),
    actor: { type: "user", id: request.header("X-User") },
    targets: [{ type: "invoice", id: request.params.invoice }],
    context: { location: request.ip, userAgent: request.header("User-Agent") },
  });
});
app.get("/history", async (request, response) => {
  const { link } = await workos.portal.generateLink({ organization: request.header("X-Customer"), intent: "audit_logs" });
  response.redirect(link);
});
