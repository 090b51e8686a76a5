// Events like those of a small company that sells software, the same at every run except for the day on which they end.
function random(seed) {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

const PEOPLE = [["u_anna", "Anna Berger"], ["u_marc", "Marc Olsen"], ["u_ines", "Inês Duarte"], ["u_yusuf", "Yusuf Kaya"], ["u_lea", "Léa Fontaine"]];
const KINDS = [
  [30, "auth.succeeded", "auth"],
  [9, "auth.failed", "auth"],
  [22, "document.viewed", "access", "document"],
  [14, "document.updated", "mutation", "document", [{ field: "title", before: "Draft budget", after: "Budget 2027" }, { field: "owner", after: "u_lea" }]],
  [7, "document.exported", "access", "document"],
  [5, "user.role.updated", "admin", "user", [{ field: "role", before: "member", after: "admin" }]],
  [5, "project.api_key.created", "security", "api_key"],
  [4, "user.invited", "admin", "user"],
  [4, "backup.completed", "system", "backup"],
];
const TARGETS = { document: ["Budget 2027", "Contract Nordlicht", "Roadmap", "Minutes of the board"], user: PEOPLE.map(([, name]) => name), api_key: ["CI deployment", "Data warehouse"], backup: ["nightly"] };

export function sampleEvents(count, tenants = ["acme", "globex"], now = Date.now()) {
  const next = random(7);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const weights = KINDS.reduce((sum, [weight]) => sum + weight, 0);
  return Array.from({ length: count }, (_, index) => {
    let left = next() * weights;
    const [, action, category, type, changes] = KINDS.find(([weight]) => (left -= weight) < 0) ?? KINDS[0];
    const [id, name] = pick(PEOPLE);
    const age = (1 - next() ** 1.6) * 28 * 86_400_000;
    const event = {
      action, category, tenant_id: tenants[index % 4 === 3 ? 1 : 0] ?? tenants[0],
      actor: action.startsWith("backup") ? { id: "svc_backup", type: "service", name: "Backup" } : { id, type: "user", name },
      context: { ip_address: `203.0.113.${Math.floor(next() * 250)}`, user_agent: "Mozilla/5.0 (X11; Linux x86_64)", location: pick(["Berlin", "Lisbon", "Oslo"]) },
      occurred_at: new Date(now - age).toISOString(),
      metadata: { request: `r-${index}`, plan: "business", retries: 0 },
    };
    if (type) event.target = { id: `${type}_${Math.floor(next() * 40)}`, type, name: pick(TARGETS[type]) };
    if (changes) event.changes = changes;
    return event;
  });
}

const SCRIPT = "<img src=x onerror=\"window.pwned='img'\"><script>window.pwned='script'</script>";
const LINK = "javascript:window.pwned='link'";

const hostileTarget = { id: `</div>${SCRIPT}`, type: `${SCRIPT}type`, name: "{{constructor.constructor('window.pwned=1')()}}" };

/** An event with markup in every field that takes text. */
export const hostileEvent = (tenant_id = "acme") => ({
  action: "user.created", category: "security", tenant_id,
  actor: {
    id: `${SCRIPT}-actor`, type: "user", name: `"><svg onload="window.pwned='svg'">`, email: LINK,
    on_behalf_of: { id: `${SCRIPT}-other`, type: "user", name: LINK },
  },
  outcome: "denied",
  target: hostileTarget,
  targets: [hostileTarget, { id: SCRIPT, type: SCRIPT, name: LINK }],
  context: { ip_address: LINK, user_agent: SCRIPT, location: `\${window.pwned='template'}`, session_id: `' onmouseover='window.pwned="mouse"` },
  metadata: { [`${SCRIPT}key`]: SCRIPT, __proto__x: { constructor: SCRIPT }, list: [SCRIPT, { deep: LINK }], number: 12345678901234567890n },
  changes: [{ field: SCRIPT, before: SCRIPT, after: { html: SCRIPT } }, { field: "‮gnirts‬", before: null, after: [LINK] }],
  idempotency_key: `${SCRIPT}${Math.random()}`,
});

/** An event whose texts are as long as the API takes them, up to `length`, without a space. */
export function longEvent(length) {
  const text = (max) => "W".repeat(Math.min(length, max));
  const party = { id: text(256), type: text(64), name: text(512) };
  return {
    action: `user.${text(100).toLowerCase()}`, category: "security", tenant_id: "W".repeat(60), outcome: "denied",
    actor: { ...party, type: "user", email: text(254), on_behalf_of: { ...party, type: "user" } },
    target: party, targets: [party, { ...party, id: `T${text(255)}` }],
    context: { ip_address: "2001:db8:1111:2222:3333:4444:5555:6666", user_agent: text(512), location: text(256), session_id: text(256) },
    metadata: { [text(100)]: text(512), list: [text(512)] },
    changes: [{ field: text(128), before: text(512), after: { [text(100)]: text(512) } }],
    idempotency_key: text(64),
  };
}
