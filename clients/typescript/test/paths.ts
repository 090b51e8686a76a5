/** The folder `docs` of the repository. Compiled tests run from `build/test`. */
export const DOCS = new URL("../../../../docs/", import.meta.url);
/** The folder of this package. */
export const PACKAGE = new URL("../../", import.meta.url);
