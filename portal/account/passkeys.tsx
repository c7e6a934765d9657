/** The user's passkeys: added with the browser's own window, listed, removed with the password. */
import { Button, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ActionForm, Dialog } from "../design/dialog.tsx";
import { Refusal } from "../design/states.tsx";
import { useLanguage, useMessages } from "../language/language.tsx";
import { CallError, call, type OutputOf } from "../shell/call.ts";
import { OwnPassword } from "../sign-in/step.tsx";
import { WithPassword } from "./authenticator.tsx";
import { Panel } from "./panel.tsx";
import { hasPasskeys, makePasskey } from "./passkey-prompt.ts";

type Passkey = OutputOf<"GET /passkeys">["passkeys"][number];

export function Passkeys() {
  const { messages, showTime } = useLanguage();
  const queries = useQueryClient();
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Passkey>();
  const found = useQuery({
    queryKey: ["passkeys"],
    queryFn: ({ signal }) => call("GET /passkeys", {}, { signal }),
  });
  const refresh = async () => {
    await queries.invalidateQueries({ queryKey: ["passkeys"] });
    await queries.invalidateQueries({ queryKey: ["session"] });
  };
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
              aria-label={messages.removePasskey(passkey.name)}
              onClick={() => setRemoved(passkey)}
            >
              {messages.remove}
            </Button>
          </li>
        ))}
      </ul>
      <div className="panel-row">
        {passkeys.length === 0 && <span className="quiet">{messages.noPasskeys}</span>}
        <div className="space" />
        <Button variant="default" disabled={!hasPasskeys()} onClick={() => setAdding(true)}>
          {messages.addPasskey}
        </Button>
      </div>
      {!hasPasskeys() && <p className="quiet">{messages.noPasskeysHere}</p>}
      {isAdding && <AddPasskey added={refresh} close={() => setAdding(false)} />}
      {removed && (
        <WithPassword
          title={messages.removePasskey(removed.name)}
          label={messages.remove}
          run={async (password) => {
            await call("POST /passkeys/remove/:passkey", { passkey: removed.id, password });
            await refresh();
          }}
          close={() => setRemoved(undefined)}
        />
      )}
    </Panel>
  );
}

type AddPasskeyProps = {
  readonly added: () => Promise<void>;
  readonly close: () => void;
};

function AddPasskey({ added, close }: AddPasskeyProps) {
  const messages = useMessages();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const add = useMutation({
    async mutationFn() {
      const { options } = await call("POST /passkeys/begin", { password });
      const response = await makePasskey(options);
      await call("POST /passkeys/confirm", { name: name.trim(), response });
      await added();
    },
    onSuccess: close,
  });
  // The browser's own words are for programmers.
  const isOwn = add.error === null || add.error instanceof CallError;
  return (
    <Dialog title={messages.addPasskey} close={close}>
      <ActionForm
        label={messages.addPasskey}
        isPending={add.isPending}
        error={isOwn ? add.error : new Error(messages.passkeyFailed)}
        send={() => add.mutate()}
      >
        <TextInput
          label={messages.nameOfPasskey}
          placeholder={messages.passkeyExample}
          required
          withAsterisk={false}
          maxLength={60}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <OwnPassword value={password} onChange={setPassword} />
      </ActionForm>
    </Dialog>
  );
}
