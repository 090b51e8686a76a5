// The viewer in an application with React. Needs `audit-log-viewer`, packed as
// clients/viewer/README.md says, `react` and `react-dom`; any bundler.
import { useState } from "react";
import { createRoot } from "react-dom/client";
import { AuditLogViewer } from "audit-log-viewer/react";

// In an application the token comes from your own server, which calls POST /viewer-tokens for the signed-in customer:
//   const fetchToken = async () => (await fetch("/audit-token")).text();
const fetchToken = async () => location.hash.slice(1);

function AuditLog({ token }) {
  const [opened, setOpened] = useState("");
  return (
    <>
      <output>{opened}</output>
      <AuditLogViewer baseUrl="http://127.0.0.1:8080" token={token} refreshToken={fetchToken} onEventOpened={(event) => setOpened(event.detail.id)} />
    </>
  );
}

createRoot(document.querySelector("#app")).render(<AuditLog token={await fetchToken()} />);
