/** A window over the screen: a form with what it does, why it was refused, and one button. */
import { Button, Modal, TextInput } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useMessages } from "../language/language.tsx";
import { submitting } from "../shell/keys.ts";
import { Icon } from "./icons.tsx";
import { Refusal } from "./states.tsx";

type DialogProps = {
  readonly title: string;
  readonly close: () => void;
  readonly children: ReactNode;
};

/** Is there while it is rendered. */
export function Dialog({ title, close, children }: DialogProps) {
  const { close: closeLabel } = useMessages();
  return (
    <Modal opened onClose={close} title={title} closeButtonProps={{ "aria-label": closeLabel }}>
      {children}
    </Modal>
  );
}

type FormProps = {
  readonly hint?: string | undefined;
  readonly label: string;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly isDangerous?: boolean;
  readonly send: () => void;
  readonly children?: ReactNode;
};

export function ActionForm({
  hint,
  label,
  isPending,
  error,
  isDangerous = false,
  send,
  children,
}: FormProps) {
  return (
    <form className="action" onSubmit={submitting(send)}>
      {hint !== undefined && <p className="quiet">{hint}</p>}
      {children}
      <Refusal text={error?.message} />
      <Button type="submit" size="sm" loading={isPending} {...(isDangerous && { color: "red.8" })}>
        {label}
      </Button>
    </form>
  );
}

/** A secret that is shown once, with a button that copies it. */
export function ShownOnce({ text }: { readonly text: string }) {
  return (
    <div className="shown-once">
      <pre className="secret">{text}</pre>
      <CopyButton text={text} />
    </div>
  );
}

type CopyProps = { readonly text: string; readonly label?: string };

/** Says that it has copied. */
export function CopyButton({ text, label }: CopyProps) {
  const messages = useMessages();
  const [copied, setCopied] = useState("");
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(text);
  };
  // Pages without TLS have no clipboard.
  if (navigator.clipboard === undefined) return null;
  const isCopied = copied === text;
  return (
    <Button
      variant="default"
      {...(isCopied && { leftSection: <Icon name="check" size={14} /> })}
      onClick={() => void copy()}
    >
      {isCopied ? messages.copied : (label ?? messages.copy)}
    </Button>
  );
}

type ReasonProps = {
  readonly text: string;
  readonly write: (text: string) => void;
  /** The first field of its window has the cursor. */
  readonly isFirst?: boolean;
};

/** Why a user does something that the audit keeps. */
export function ReasonInput({ text, write, isFirst = false }: ReasonProps) {
  const messages = useMessages();
  const field = useRef<HTMLInputElement>(null);
  // Also in a window that is open already, where it comes after the preview.
  useEffect(() => {
    if (isFirst) field.current?.focus();
  }, [isFirst]);
  return (
    <TextInput
      ref={field}
      label={messages.reason}
      description={messages.reasonHint}
      required
      data-autofocus={isFirst || undefined}
      minLength={3}
      maxLength={200}
      value={text}
      onChange={({ currentTarget }) => write(currentTarget.value)}
    />
  );
}
