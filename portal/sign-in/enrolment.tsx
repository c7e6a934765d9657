/**
 * Sets up an authenticator app: shows the secret, asks for a code that proves the app has it, and
 * shows the recovery codes once.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { SecretPicture } from "../account/panel.tsx";
import { codeIn } from "../account/users.ts";
import { usePerformer } from "../actions/performer.tsx";
import { ShownOnce } from "../design/dialog.tsx";
import { useMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import { sessionKey } from "../shell/session.ts";
import { CodeInput, OwnPassword, Step } from "./step.tsx";

export function Enrolment() {
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
