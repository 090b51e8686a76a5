// Makes dist/: the built component of the repository, its types, and the React wrapper.
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const here = import.meta.dirname;
const dist = join(here, "dist");
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
copyFileSync(join(here, "../../crates/audit-web/assets/viewer.js"), join(dist, "viewer.js"));
for (const name of ["viewer.d.ts", "react.js", "react.d.ts"]) copyFileSync(join(here, "src", name), join(dist, name));
