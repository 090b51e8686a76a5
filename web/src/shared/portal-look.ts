import type { Api } from "./api.js";

/** The settings of the portal of a project: `GET /portal`. */
export interface PortalLook {
  name: string | null;
  /** A data URL of an image. */
  logo: string | null;
  /** The kinds of destinations that the holder of the credential may create. */
  destination_kinds: string[];
  /** Where readers without a token sign in. */
  sign_in_url: string | null;
}

export const EMPTY_LOOK: PortalLook = { name: null, logo: null, destination_kinds: [], sign_in_url: null };

/** A logo as the server accepts it. The page checks it too, because it becomes the source of an image. */
const LOGO = /^data:image\/(png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$/;

export function isLogo(text: string | null): text is string {
  return text !== null && LOGO.test(text);
}

export async function readPortalLook(api: Api): Promise<PortalLook> {
  const { portal } = await api.get<{ portal: PortalLook }>("/portal");
  // A node that is not upgraded yet has neither destination_kinds nor sign_in_url.
  const { name, logo, destination_kinds = [], sign_in_url = null } = portal;
  return { name, logo: isLogo(logo) ? logo : null, destination_kinds, sign_in_url };
}
