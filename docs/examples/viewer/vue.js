// The viewer in an application with Vue. Needs `audit-log-viewer`, packed as clients/viewer/README.md
// says, and `vue`; any bundler. In a template the element is written as in HTML, and properties have `.prop`:
// <audit-log-viewer :base-url.prop="server" :token.prop="token" @audit-event-opened="onOpened" />.
// For templates, tell the compiler: isCustomElement: (tag) => tag === "audit-log-viewer".
import { createApp, h, ref } from "vue";
import "audit-log-viewer";

// In an application the token comes from your own server, which calls POST /viewer-tokens for the signed-in customer:
//   const fetchToken = async () => (await fetch("/audit-token")).text();
const fetchToken = async () => location.hash.slice(1);
const token = await fetchToken();

const AuditLog = {
  setup() {
    const opened = ref("");
    const onOpened = (event) => (opened.value = event.detail.id);
    return () => [
      h("output", opened.value),
      h("audit-log-viewer", { ".baseUrl": "http://127.0.0.1:8080", ".token": token, ".refreshToken": fetchToken, "onAudit-event-opened": onOpened }),
    ];
  },
};

createApp(AuditLog).mount("#app");
