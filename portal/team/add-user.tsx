/** A new user: login, role, and the temporary password, which is shown once. */
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { PerformerForm, usePerformer } from "../actions/performer.tsx";
import { Dialog, ShownOnce } from "../design/dialog.tsx";
import { useLanguage, useMessages } from "../language/language.tsx";
import { call, type OutputOf } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { RoleFields } from "./role-fields.tsx";
import { firstChoice, loginOf, roleInput } from "./roles.ts";

export function AddUser({ close }: { readonly close: () => void }) {
  const messages = useMessages();
  const user = useUser();
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState(() => firstChoice(user));
  const add = usePerformer(() => call("POST /users/add", { name, ...roleInput(chosen, user) }));
  if (add.data !== undefined) {
    return <TemporaryPassword title={messages.userAdded} made={add.data} close={close} />;
  }
  return (
    <Dialog title={messages.addUser} close={close}>
      <PerformerForm performer={add} label={messages.addUser}>
        <TextInput
          label={messages.login}
          description={name === "" ? undefined : messages.signsInAs(loginOf(name, chosen, user))}
          autoCapitalize="none"
          required
          withAsterisk={false}
          maxLength={40}
          pattern="[A-Za-z0-9._\-]+"
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <RoleFields chosen={chosen} choose={setChosen} />
      </PerformerForm>
    </Dialog>
  );
}

type TemporaryPasswordProps = {
  readonly title: string;
  readonly made: OutputOf<"POST /users/password/:login">;
  readonly close: () => void;
};

export function TemporaryPassword({ title, made, close }: TemporaryPasswordProps) {
  const { messages, showTime, showUtc } = useLanguage();
  return (
    <Dialog title={title} close={close}>
      <div className="action">
        <p className="quiet" title={showUtc(made.expiresAt)}>
          {messages.temporaryShown(made.login, showTime(made.expiresAt))}
        </p>
        <ShownOnce text={made.password} />
        <Button size="sm" onClick={close}>
          {messages.close}
        </Button>
      </div>
    </Dialog>
  );
}
