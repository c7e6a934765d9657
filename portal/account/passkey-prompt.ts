/**
 * Has the browser make or use a passkey, in a window of the browser's own. The gateway sends the
 * options and verifies the answer, both in the JSON form of WebAuthn level 3.
 */

export function hasPasskeys(): boolean {
  return typeof PublicKeyCredential === "function" && mayHavePasskeys(location.hostname);
}

/** Browsers permit passkeys at a host name, by TLS or at `localhost`, never at an IP address. */
export function mayHavePasskeys(hostname: string): boolean {
  return !/^[\d.]+$|:/.test(hostname);
}

export async function makePasskey(options: object): Promise<object> {
  // The gateway made these options with `generateRegistrationOptions`.
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
