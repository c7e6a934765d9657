/** A change of what lets the user in: it asks for the password once more. */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ActionForm, Dialog } from "../design/dialog.tsx";
import { useMessages } from "../language/language.tsx";
import { OwnLogin, SecretInput } from "../sign-in/step.tsx";

type WithPasswordProps = {
  readonly title: string;
  readonly label: string;
  readonly hint?: string;
  readonly run: (password: string) => Promise<unknown>;
  readonly close: () => void;
};

export function WithPassword({ title, label, hint, run, close }: WithPasswordProps) {
  const messages = useMessages();
  const [password, setPassword] = useState("");
  const send = useMutation({
    mutationFn: () => run(password),
    onSuccess: close,
    onError: () => setPassword(""),
  });
  return (
    <Dialog title={title} close={close}>
      <ActionForm
        hint={hint}
        label={label}
        isPending={send.isPending}
        error={send.error}
        send={() => send.mutate()}
      >
        <OwnLogin />
        <SecretInput
          label={messages.passwordAgain}
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
        />
      </ActionForm>
    </Dialog>
  );
}
