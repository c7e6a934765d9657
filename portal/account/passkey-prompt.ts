/**
 * Asks the browser to make or to use a passkey. The browser opens a window of its own for that. The
 * gateway sends the options and verifies the answer. Both are in the JSON form of WebAuthn level 3.
 */

export function hasPasskeys(): boolean {
  return typeof PublicKeyCredential === "function" && mayHavePasskeys(location.hostname);
}

/**
 * Whether browsers permit passkeys at this host. They permit them at a host name, with TLS or at
 * `localhost`, and never at a numeric address.
 */
export function mayHavePasskeys(hostname: string): boolean {
  return !/^[\d.]+$|:/.test(hostname);
}

export async function makePasskey(options: object): Promise<object> {
  // The gateway made these options with `generateRegistrationOptions`, so they have this type.
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
