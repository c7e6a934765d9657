/** A button for an action of the gateway, and the window that it opens. */
import { Button, Modal, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Refusal } from "../design/states.tsx";
import { useConfigurationMessages, useLanguage } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import { ActionForm, type ActionProps, type WindowProps } from "./form.tsx";

export function ActionButton({ isMain = false, isOffered = true, ...given }: ActionProps) {
  const messages = useConfigurationMessages();
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      {isOffered && (
        <Button variant={isMain ? "filled" : "default"} onClick={() => setOpen(true)}>
          {given.label}
        </Button>
      )}
      <Modal
        opened={isOpen}
        onClose={close}
        title={given.title ?? given.label}
        size="lg"
        closeOnClickOutside={false}
        closeButtonProps={{ "aria-label": messages.close }}
      >
        {isOpen && <ActionWindow {...given} close={close} />}
      </Modal>
    </>
  );
}

function ActionWindow(props: WindowProps) {
  const { code: language } = useLanguage();
  const { action } = props;
  const found = useQuery({
    queryKey: ["action", action, language],
    queryFn: ({ signal }) => call("GET /actions/:action", { action, language }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (found.error !== null) return <Refusal text={found.error.message} />;
  if (found.data === undefined) return <Skeleton height={120} />;
  return <ActionForm described={found.data} {...props} />;
}
