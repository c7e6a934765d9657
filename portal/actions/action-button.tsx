/** A button for an action of the gateway, and the window that it opens. */
import { Button, Modal, Skeleton } from "@mantine/core";
import { useState } from "react";
import { Refusal } from "../design/states.tsx";
import { useLanguage, useMessages } from "../language/language.tsx";
import { useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { ActionForm, type ActionProps, type WindowProps } from "./form.tsx";

export function ActionButton({ right, isMain = false, isOffered = true, ...given }: ActionProps) {
  const { may } = useUser();
  const [isOpen, setOpen] = useState(false);
  if (right !== undefined && !may(right)) return null;
  return (
    <>
      {isOffered && (
        <Button variant={isMain ? "filled" : "default"} onClick={() => setOpen(true)}>
          {given.label}
        </Button>
      )}
      <ActionWindow {...given} isOpen={isOpen} close={() => setOpen(false)} />
    </>
  );
}

/** The window of an action. It is rendered all the time, so that it gives the focus back. */
export function ActionWindow({ isOpen, ...given }: WindowProps & { readonly isOpen: boolean }) {
  const messages = useMessages();
  return (
    <Modal
      opened={isOpen}
      onClose={given.close}
      title={given.title ?? given.label}
      size="lg"
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": messages.close }}
    >
      {isOpen && <DescribedForm {...given} />}
    </Modal>
  );
}

type NamedProps = Omit<ActionProps, "label" | "title" | "isDangerous"> & {
  readonly verb: "remove" | "change" | "enable" | "disable";
  readonly thing: keyof ReturnType<typeof useMessages>["things"];
  readonly name: string | undefined;
};

/** For one of several things: the window and its button name the one that is changed. */
export function NamedAction({ verb, thing, name, ...given }: NamedProps) {
  const messages = useMessages();
  return (
    <ActionButton
      label={messages[verb]}
      title={messages.named[verb](`${messages.things[thing]} ${name}`)}
      isDangerous={verb === "remove" || verb === "disable"}
      {...given}
    />
  );
}

function DescribedForm(props: WindowProps) {
  const { code: language } = useLanguage();
  const { action } = props;
  const staleMs = Number.POSITIVE_INFINITY;
  const found = useAnswer("GET /actions/:action", { action, language }, { staleMs });
  if (found.error !== null) return <Refusal text={found.error.message} />;
  if (found.data === undefined) return <Skeleton height={120} />;
  return <ActionForm described={found.data} {...props} />;
}
