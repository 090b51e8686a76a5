// A to-do API that logs who did what, and shows each customer its own log.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { AuditClient } from "audit-server-client";
import { addToAudit, auditExpress } from "audit-server-client/express";
import { openSpool } from "audit-server-client/spool";
import express from "express";

const PUBLIC = join(import.meta.dirname, "public");
// The modules of the client for the page, without a bundler.
const CLIENT = dirname(createRequire(import.meta.url).resolve("audit-server-client/package.json"));

/**
 * @param {{ baseUrl: string, apiKey: string, spoolDirectory: string, logKey: string }} options `logKey` is the key of the log, which the
 *   operator of this application got once from the operator of the audit service.
 */
export async function createApp({ baseUrl, apiKey, spoolDirectory, logKey }) {
  const audit = new AuditClient({
    baseUrl,
    apiKey,
    // Events are on the disk before `record` resolves, and survive a crash and an outage of the service.
    spool: await openSpool({ directory: spoolDirectory }),
    onFailed: (event, error) => console.error(`not recorded: ${event.action}: ${error.message}`),
    onDelayed: (error) => console.error(`the audit log is delayed: ${error.message}`),
  });
  const audited = auditExpress({
    client: audit,
    actor: (request) => ({ id: request.user.id, type: "user", name: request.user.name }),
    tenantId: (request) => request.user.organization,
    onError: (error) => console.error(`not recorded: ${error.message}`),
  });

  const app = express();
  app.use("/client", express.static(join(CLIENT, "dist", "esm")));
  app.use(express.static(PUBLIC));
  app.use(express.json());
  app.use(authenticate);
  app.use("/todos", todoRoutes(audited));
  // A token for the organization of the signed-in user: it reads that organization's events and nothing else.
  app.get("/audit-access", async (request, response) => {
    const { token } = await audit.viewerTokens.create({ tenant_id: request.user.organization, expires_in: 600 });
    response.json({ baseUrl, token, logKey });
  });
  return { app, audit };
}

/** A stand-in for the real thing: the user is in the query or in a header, as `alice@acme`. */
function authenticate(request, response, next) {
  const [name, organization] = String(request.query.user ?? request.header("X-User") ?? "").split("@");
  if (!name || !organization) {
    response.status(401).json({ error: "say who you are: X-User: alice@acme" });
    return;
  }
  request.user = { id: `user_${name}`, name, organization };
  next();
}

function todoRoutes(audited) {
  /** The to-dos of each organization, by id. */
  const todos = new Map();
  const todosOf = ({ user }) => todos.get(user.organization) ?? todos.set(user.organization, new Map()).get(user.organization);
  const target = (request) => ({ id: request.params.id, type: "todo" });
  let lastId = 0;

  const routes = express.Router();
  routes.get("/", (request, response) => response.json([...todosOf(request).values()]));

  routes.post("/", audited({ action: "todo.created", category: "mutation" }), (request, response) => {
    const todo = { id: String((lastId += 1)), title: String(request.body?.title ?? ""), done: false };
    todosOf(request).set(todo.id, todo);
    addToAudit(request, { target: { id: todo.id, type: "todo" } });
    response.status(201).json(todo);
  });

  routes.patch("/:id", audited({ action: "todo.updated", category: "mutation", target }), (request, response) => {
    const todo = todosOf(request).get(request.params.id);
    if (todo === undefined) {
      response.sendStatus(404);
      return;
    }
    const before = { ...todo };
    Object.assign(todo, { title: request.body?.title ?? todo.title, done: request.body?.done ?? todo.done });
    const changed = ["title", "done"].filter((field) => before[field] !== todo[field]);
    addToAudit(request, { changes: changed.map((field) => ({ field, before: before[field], after: todo[field] })) });
    response.json(todo);
  });

  routes.delete("/:id", audited({ action: "todo.deleted", category: "mutation", target }), (request, response) => {
    response.sendStatus(todosOf(request).delete(request.params.id) ? 204 : 404);
  });
  return routes;
}
