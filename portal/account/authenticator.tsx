/** The panel that turns an authenticator app's codes on and off, and replaces recovery codes. */
import { Button } from "@mantine/core";
import { useState } from "react";
import { PerformerForm, usePerformer } from "../actions/performer.tsx";
import { OnOff } from "../design/details.tsx";
import { Dialog, ShownOnce } from "../design/dialog.tsx";
import { useMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import { CodeInput, OwnPassword } from "../sign-in/step.tsx";
import { type Factors, Panel, SecretPicture, type ShownSecret } from "./panel.tsx";
import { codeIn, hasFactor } from "./users.ts";

export function Authenticator({ factors }: { readonly factors: Factors }) {
  const messages = useMessages();
  const [asked, setAsked] = useState<"on" | "off" | "codes">();
  const [codes, setCodes] = useState<readonly string[]>();
  const [shown, setShown] = useState<ShownSecret>();
  const keep = (made: { readonly recoveryCodes: readonly string[] }) => {
    setShown(undefined);
    setCodes(made.recoveryCodes);
  };
  const forms = {
    on: {
      title: messages.app,
      label: messages.turnOn,
      run: async (password: string) => setShown(await call("POST /totp/begin", { password })),
    },
    off: {
      title: messages.app,
      label: messages.turnOff,
      run: (password: string) => call("POST /totp/remove", { password }),
    },
    codes: {
      title: messages.newCodes,
      hint: messages.newCodesHint,
      label: messages.newCodes,
      run: async (password: string) => keep(await call("POST /recovery-codes", { password })),
    },
  };
  return (
    <Panel title={messages.app} hint={messages.appHint}>
      <div className="line">
        <OnOff isOn={factors.totp} />
        <div className="space" />
        <Button variant="default" onClick={() => setAsked(factors.totp ? "off" : "on")}>
          {factors.totp ? messages.turnOff : messages.turnOn}
        </Button>
      </div>
      {hasFactor(factors) && (
        <div className="line">
          <div>
            {messages.recoveryCodes} <small>{messages.codesLeft(factors.recoveryCodes)}</small>
          </div>
          <div className="space" />
          <Button variant="default" onClick={() => setAsked("codes")}>
            {messages.newCodes}
          </Button>
        </div>
      )}
      {shown && <Scan shown={shown} keep={keep} close={() => setShown(undefined)} />}
      {codes && (
        <Dialog title={messages.recoveryCodes} close={() => setCodes(undefined)}>
          <div className="stack">
            <p className="quiet">{messages.recoveryCodesHint}</p>
            <ShownOnce text={codes.join("\n")} />
            <Button size="sm" onClick={() => setCodes(undefined)}>
              {messages.codesKept}
            </Button>
          </div>
        </Dialog>
      )}
      {asked && <WithPassword {...forms[asked]} close={() => setAsked(undefined)} />}
    </Panel>
  );
}

type ScanProps = {
  readonly shown: ShownSecret;
  readonly keep: (made: { readonly recoveryCodes: readonly string[] }) => void;
  readonly close: () => void;
};

function Scan({ shown, keep, close }: ScanProps) {
  const messages = useMessages();
  const [code, setCode] = useState("");
  // The gateway sends the recovery codes only once, so they are stored before anything can fail.
  const turnOn = async () => keep(await call("POST /totp/confirm", { code: codeIn(code) }));
  const confirm = usePerformer(turnOn, { changes: "account", onRefused: () => setCode("") });
  return (
    <Dialog title={messages.app} close={close}>
      <PerformerForm performer={confirm} hint={messages.scanHint} label={messages.turnOn}>
        <SecretPicture shown={shown} />
        <CodeInput value={code} onChange={setCode} />
      </PerformerForm>
    </Dialog>
  );
}

type WithPasswordProps = {
  readonly title: string;
  readonly label: string;
  readonly hint?: string;
  readonly run: (password: string) => Promise<unknown>;
  readonly close: () => void;
};

/** Asks for the password again before a change of how the user signs in. */
export function WithPassword({ title, label, hint, run, close }: WithPasswordProps) {
  const [password, setPassword] = useState("");
  const send = usePerformer(() => run(password), {
    changes: "account",
    onDone: close,
    onRefused: () => setPassword(""),
  });
  return (
    <Dialog title={title} close={close}>
      <PerformerForm performer={send} hint={hint} label={label}>
        <OwnPassword value={password} onChange={setPassword} />
      </PerformerForm>
    </Dialog>
  );
}
