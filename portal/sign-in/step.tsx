/** The frame of a step of signing in, and the fields that these steps use. */
import { Button, PasswordInput, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import {
  type Performer,
  type Options as PerformerOptions,
  usePerformer,
} from "../actions/performer.tsx";
import { Logo } from "../design/icons.tsx";
import { Refusal } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { call, type Session } from "../shell/call.ts";
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

/** A hidden field has the login: password managers need it, and browsers warn without it. */
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

export function usePasswordChange(options: PerformerOptions<Session>) {
  const messages = useMessages();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const send = usePerformer(() => call("POST /password", { current, next }), {
    ...options,
    async onDone(session) {
      await options.onDone?.(session);
      setNext("");
      setCurrent("");
    },
    onRefused: () => setCurrent(""),
  });
  const fields = (
    <>
      <OwnPassword label={messages.currentPassword} value={current} onChange={setCurrent} />
      <SecretInput
        label={messages.nextPassword}
        autoComplete="new-password"
        value={next}
        onChange={setNext}
      />
    </>
  );
  return { send, fields };
}

type StepFrameProps = {
  readonly title: string;
  readonly hint: string;
  readonly environment?: Session["environment"];
  readonly performer: Performer;
  /** The label of the button that continues with the next step. */
  readonly label: string;
  readonly variant?: "default";
  readonly children: ReactNode;
};

export function Step({ title, hint, environment, children, ...given }: StepFrameProps) {
  const messages = useMessages();
  const { performer, label, variant } = given;
  return (
    <main className="stack sign-in">
      <div className="brand">
        <Logo />
        <span>Tollgate</span>
        {environment && (
          <span className="environment" data-environment={environment}>
            {messages[environment]}
          </span>
        )}
      </div>
      <form onSubmit={submitting(() => performer.mutate())}>
        <h1>{title}</h1>
        <p>{hint}</p>
        <Refusal text={performer.error?.message} />
        {children}
        <Button type="submit" size="sm" loading={performer.isPending} {...(variant && { variant })}>
          {label}
        </Button>
      </form>
    </main>
  );
}
