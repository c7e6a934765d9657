/** The frame of a panel on the account's screens, and the secret of an authenticator app. */
import type { ReactNode } from "react";
import { useMessages } from "../language/language.tsx";
import type { Session } from "../shell/call.ts";

export type Factors = NonNullable<Session["factors"]>;

type PanelProps = {
  readonly title: string;
  readonly hint?: string;
  readonly children: ReactNode;
};

export function Panel({ title, hint, children }: PanelProps) {
  return (
    <section className="panel">
      <div className="panel-title">
        <h2>{title}</h2>
        {hint !== undefined && <p className="quiet">{hint}</p>}
      </div>
      <div className="panel-content stack">{children}</div>
    </section>
  );
}

export type ShownSecret = {
  readonly secret: string;
  /** The QR code as a `data:` URL. */
  readonly picture: string;
};

export function SecretPicture({ shown }: { readonly shown: ShownSecret }) {
  const { qrCode } = useMessages();
  return (
    <>
      <img className="qr" src={shown.picture} width="200" height="200" alt={qrCode} />
      <code className="secret">{shown.secret}</code>
    </>
  );
}
