/** A window over the screen: a form with what it does, why it was refused, and one button. */
import { Button, Modal, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { useMessages } from "../language/language.tsx";
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
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  return (
    <form className="action" onSubmit={submit}>
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
  const messages = useMessages();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <div className="shown-once">
      <pre className="secret">{text}</pre>
      {/* Pages without TLS have no clipboard. */}
      {navigator.clipboard !== undefined && (
        <Button variant="default" onClick={() => void copy()}>
          {isCopied ? messages.copied : messages.copy}
        </Button>
      )}
    </div>
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
  return (
    <TextInput
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
