/** The user's passkeys: a list, a dialog that adds one, and a button that removes one. */
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { PerformerForm, usePerformer } from "../actions/performer.tsx";
import { Dialog } from "../design/dialog.tsx";
import { Refusal } from "../design/states.tsx";
import { useLanguage, useMessages } from "../language/language.tsx";
import { call, type OutputOf, useAnswer } from "../shell/call.ts";
import { OwnPassword } from "../sign-in/step.tsx";
import { WithPassword } from "./authenticator.tsx";
import { Panel } from "./panel.tsx";
import { hasPasskeys, makePasskey } from "./passkey-prompt.ts";

type Passkey = OutputOf<"GET /passkeys">["passkeys"][number];

export function Passkeys() {
  const { messages, showTime } = useLanguage();
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Passkey>();
  const found = useAnswer("GET /passkeys", {});
  const passkeys = found.data?.passkeys ?? [];
  return (
    <Panel title={messages.passkeys} hint={messages.passkeysHint}>
      <Refusal text={found.error?.message} keepsFocus />
      <ul className="items">
        {passkeys.map((passkey) => (
          <li key={passkey.id}>
            <div>
              <b>{passkey.name}</b>
              <small>
                {messages.addedAt(showTime(passkey.createdAt))} ·{" "}
                {passkey.lastUsedAt === undefined
                  ? messages.neverUsed
                  : messages.usedAt(showTime(passkey.lastUsedAt))}
              </small>
            </div>
            <Button
              variant="default"
              aria-label={messages.removeNamed(passkey.name)}
              onClick={() => setRemoved(passkey)}
            >
              {messages.remove}
            </Button>
          </li>
        ))}
      </ul>
      <div className="line">
        {passkeys.length === 0 && <span className="quiet">{messages.noPasskeys}</span>}
        <div className="space" />
        <Button variant="default" disabled={!hasPasskeys()} onClick={() => setAdding(true)}>
          {messages.addPasskey}
        </Button>
      </div>
      {!hasPasskeys() && <p className="quiet">{messages.noPasskeysHere}</p>}
      {isAdding && <AddPasskey close={() => setAdding(false)} />}
      {removed && (
        <WithPassword
          title={messages.removeNamed(removed.name)}
          label={messages.remove}
          run={(password) =>
            call("POST /passkeys/remove/:passkey", { passkey: removed.id, password })
          }
          close={() => setRemoved(undefined)}
        />
      )}
    </Panel>
  );
}

function AddPasskey({ close }: { readonly close: () => void }) {
  const messages = useMessages();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const add = usePerformer(
    async () => {
      const { options } = await call("POST /passkeys/begin", { password });
      const response = await makePasskey(options).catch(() => {
        // The browser's error text is written for programmers, so the portal shows its own.
        throw new Error(messages.passkeyFailed);
      });
      return call("POST /passkeys/confirm", { name: name.trim(), response });
    },
    { changes: "account", onDone: close },
  );
  return (
    <Dialog title={messages.addPasskey} close={close}>
      <PerformerForm performer={add} label={messages.addPasskey}>
        <TextInput
          label={messages.fields.name}
          placeholder={messages.passkeyExample}
          required
          withAsterisk={false}
          maxLength={60}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <OwnPassword value={password} onChange={setPassword} />
      </PerformerForm>
    </Dialog>
  );
}
