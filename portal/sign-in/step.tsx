/** The frame of one step of signing in, and its fields. */

import { PasswordInput, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { Logo } from "../design/icons.tsx";
import { Refusal } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import type { Session } from "../shell/call.ts";
import { submitting } from "../shell/keys.ts";
import { useUser } from "../shell/session.ts";

export type StepProps = { readonly session: Session };

type FieldProps = { readonly value: string; readonly onChange: (value: string) => void };
type SecretProps = FieldProps & { readonly label: string; readonly autoComplete: string };

export function SecretInput({ onChange, ...props }: SecretProps) {
  const { showPassword } = useMessages();
  return (
    <PasswordInput
      {...props}
      visibilityToggleFocusable
      visibilityToggleButtonProps={{ "aria-label": showPassword }}
      required
      withAsterisk={false}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

/**
 * The password of a user who is known. The login stands before it, hidden: a password manager keeps
 * passwords by login, and a browser complains of a form without one.
 */
export function OwnPassword({ label, ...field }: FieldProps & { readonly label?: string }) {
  const { passwordAgain } = useMessages();
  const { login } = useUser();
  return (
    <>
      <input
        className="own-login"
        type="text"
        name="username"
        autoComplete="username"
        value={login}
        readOnly
        tabIndex={-1}
        aria-hidden="true"
      />
      <SecretInput label={label ?? passwordAgain} autoComplete="current-password" {...field} />
    </>
  );
}

export function CodeInput({ value, onChange }: FieldProps) {
  return (
    <TextInput
      label={useMessages().code}
      autoComplete="one-time-code"
      autoFocus
      required
      withAsterisk={false}
      maxLength={32}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

type StepFrameProps = {
  readonly title: string;
  readonly hint: string;
  readonly environment?: Session["environment"];
  readonly error: Error | null;
  readonly send: () => void;
  readonly children: ReactNode;
};

export function Step({ title, hint, environment, error, send, children }: StepFrameProps) {
  const messages = useMessages();
  return (
    <main className="sign-in">
      <div className="brand">
        <Logo />
        <span>Tollgate</span>
        {environment && (
          <span className="environment" data-environment={environment}>
            {messages[environment]}
          </span>
        )}
      </div>
      <form onSubmit={submitting(send)}>
        <h1>{title}</h1>
        <p>{hint}</p>
        <Refusal text={error?.message} />
        {children}
      </form>
    </main>
  );
}
