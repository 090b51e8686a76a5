/** The folder `docs` of the repository. Compiled tests run from `build/test`. */
export const DOCS = new URL("../../../../docs/", import.meta.url);
/** The cases that the tests of all clients read. */
export const TABLES = new URL("../../../conformance/tables/", import.meta.url);
/** The folder of this package. */
export const PACKAGE = new URL("../../", import.meta.url);
