const viewer = document.querySelector("audit-log-viewer");

// In an application the token comes from your own server, which calls POST /viewer-tokens for the signed-in customer:
//   const token = async () => (await fetch("/audit-token")).text();
const token = async () => location.hash.slice(1);

viewer.addEventListener("audit-event-opened", (event) => (document.querySelector("output").textContent = event.detail.id));
viewer.refreshToken = token;
viewer.token = await token();
