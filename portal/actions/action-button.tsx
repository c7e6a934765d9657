/** A button that opens an action's form. Actions are the gateway's changes that users make. */
import { Button, Modal, Skeleton } from "@mantine/core";
import { useState } from "react";
import { Refusal } from "../design/states.tsx";
import { useLanguage, useMessages } from "../language/language.tsx";
import { useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { ActionForm, type ActionProps, type WindowProps } from "./form.tsx";
import { rightFor, wordsFor } from "./offers.ts";

/** A user without the right to perform the action sees no button. */
export function ActionButton({ isMain = false, isOffered = true, ...given }: ActionProps) {
  const { may } = useUser();
  const { label } = wordsFor(given, useMessages());
  const [isOpen, setOpen] = useState(false);
  if (!may(rightFor(given.action))) return null;
  return (
    <>
      {isOffered && (
        <Button variant={isMain ? "filled" : "default"} onClick={() => setOpen(true)}>
          {label}
        </Button>
      )}
      <ActionWindow {...given} isOpen={isOpen} close={() => setOpen(false)} />
    </>
  );
}

/** A closed window stays rendered, so that closing it returns the focus to the button. */
export function ActionWindow({ isOpen, ...given }: WindowProps & { readonly isOpen: boolean }) {
  const messages = useMessages();
  return (
    <Modal
      opened={isOpen}
      onClose={given.close}
      title={wordsFor(given, messages).title}
      size="lg"
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": messages.close }}
    >
      {isOpen && <DescribedForm {...given} />}
    </Modal>
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
