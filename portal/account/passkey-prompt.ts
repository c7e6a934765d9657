/**
 * Opens the browser's own window for passkeys. The gateway makes the options and verifies the
 * answer; both are in the JSON form of WebAuthn level 3.
 */

export function hasPasskeys(): boolean {
  return typeof PublicKeyCredential === "function" && mayHavePasskeys(location.hostname);
}

/** Passkeys work at a host name, with TLS or at `localhost`, and never at a numeric address. */
export function mayHavePasskeys(hostname: string): boolean {
  return !/^[\d.]+$|:/.test(hostname);
}

export async function makePasskey(options: object): Promise<object> {
  // `generateRegistrationOptions` in the gateway makes options of exactly this type.
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as PublicKeyCredentialCreationOptionsJSON,
  );
  return answerOf(await navigator.credentials.create({ publicKey }));
}

export async function showPasskey(options: object): Promise<object> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as PublicKeyCredentialRequestOptionsJSON,
  );
  return answerOf(await navigator.credentials.get({ publicKey }));
}

function answerOf(credential: Credential | null): object {
  if (!(credential instanceof PublicKeyCredential)) throw new Error("no passkey was chosen");
  return credential.toJSON();
}
