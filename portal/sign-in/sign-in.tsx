/**
 * The steps of signing in. After the login and the password, the gateway names the steps that are
 * still missing: entering the second factor, choosing a new password, or setting up a second
 * factor.
 */
import { Button, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { SecretPicture } from "../account/panel.tsx";
import { hasPasskeys, showPasskey } from "../account/passkey-prompt.ts";
import { codeIn } from "../account/users.ts";
import { usePerformer } from "../actions/performer.tsx";
import { ShownOnce } from "../design/dialog.tsx";
import { useMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import { sessionKey, useAccept } from "../shell/session.ts";
import {
  CodeInput,
  OwnPassword,
  SecretInput,
  Step,
  type StepProps,
  usePasswordChange,
} from "./step.tsx";

export function SignIn(props: StepProps) {
  const { state } = props.session;
  if (state === "second_factor") return <SecondFactor {...props} />;
  if (state === "new_password") return <NewPassword />;
  if (state === "enrolment") return <Enrolment />;
  return <Password {...props} />;
}

function Password({ session }: StepProps) {
  const messages = useMessages();
  const accept = useAccept();
  const [login, setLogin] = useState("");
  const [password, setPassword] = useState("");
  const send = usePerformer(() => call("POST /sign-in", { login, password }), {
    changes: "nothing",
    onDone: accept,
    onRefused: () => setPassword(""),
  });
  return (
    <Step
      title={messages.signIn}
      hint={messages.signInHint}
      environment={session.environment}
      performer={send}
      label={messages.signIn}
    >
      <TextInput
        label={messages.login}
        autoComplete="username"
        autoCapitalize="none"
        required
        withAsterisk={false}
        autoFocus
        value={login}
        onChange={({ currentTarget }) => setLogin(currentTarget.value)}
      />
      <SecretInput
        label={messages.password}
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
      />
    </Step>
  );
}

function SecondFactor({ session }: StepProps) {
  const messages = useMessages();
  const accept = useAccept();
  const [code, setCode] = useState("");
  const passkey = usePerformer(
    async () => {
      const { options } = await call("POST /sign-in/passkey-challenge", {});
      const response = await showPasskey(options).catch(() => {
        throw new Error(messages.passkeyFailed);
      });
      return call("POST /sign-in/passkey", { response });
    },
    { changes: "nothing", onDone: accept },
  );
  const mayShow = (session.factors?.passkeys ?? 0) > 0 && hasPasskeys();
  const send = usePerformer(() => call("POST /sign-in/code", { code: codeIn(code) }), {
    changes: "nothing",
    onDone: accept,
    onRefused: () => setCode(""),
  });
  return (
    <Step
      title={messages.secondFactor}
      hint={mayShow ? messages.passkeyHint : messages.secondFactorHint}
      performer={{ ...send, error: send.error ?? passkey.error }}
      label={messages.confirm}
      {...(mayShow && { variant: "default" })}
    >
      {mayShow && (
        <>
          <Button size="sm" loading={passkey.isPending} onClick={() => passkey.mutate()}>
            {messages.usePasskey}
          </Button>
          <p className="or">{messages.orCode}</p>
        </>
      )}
      <CodeInput value={code} onChange={setCode} />
    </Step>
  );
}

function NewPassword() {
  const messages = useMessages();
  const { send, fields } = usePasswordChange({ changes: "nothing", onDone: useAccept() });
  return (
    <Step
      title={messages.newPassword}
      hint={messages.newPasswordHint}
      performer={send}
      label={messages.savePassword}
    >
      {fields}
    </Step>
  );
}

/** The user proves by a code that the app has the secret, and sees the recovery codes once. */
function Enrolment() {
  const messages = useMessages();
  const queries = useQueryClient();
  const [code, setCode] = useState("");
  const [password, setPassword] = useState("");
  const stays = { changes: "nothing" } as const;
  const begin = usePerformer(() => call("POST /totp/begin", { password }), stays);
  const confirm = usePerformer(() => call("POST /totp/confirm", { code: codeIn(code) }), stays);
  const goOn = () => void queries.invalidateQueries({ queryKey: sessionKey });

  if (confirm.data !== undefined) {
    return (
      <Step
        title={messages.recoveryCodes}
        hint={messages.recoveryCodesHint}
        performer={{ isPending: false, error: null, mutate: goOn }}
        label={messages.codesKept}
      >
        <ShownOnce text={confirm.data.recoveryCodes.join("\n")} />
      </Step>
    );
  }
  const shown = begin.data;
  return (
    <Step
      title={messages.enrolment}
      hint={messages.enrolmentHint}
      performer={shown === undefined ? begin : confirm}
      label={shown === undefined ? messages.beginEnrolment : messages.confirm}
    >
      {shown === undefined ? (
        <OwnPassword value={password} onChange={setPassword} />
      ) : (
        <>
          <SecretPicture shown={shown} />
          <CodeInput value={code} onChange={setCode} />
        </>
      )}
    </Step>
  );
}
