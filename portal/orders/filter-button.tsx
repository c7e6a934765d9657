/** The button of a filter, which shows the values that the user has chosen, and its menu. */
import { CloseButton, Popover } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Icon } from "../design/icons.tsx";
import { useMessages } from "../language/language.tsx";

type FilterButtonProps = {
  readonly label: string;
  readonly chosen: string;
  readonly clear: () => void;
  readonly children: ReactNode;
};

export function FilterButton({ label, chosen, clear, children }: FilterButtonProps) {
  const messages = useMessages();
  const [isOpen, setOpen] = useState(false);
  const isSet = chosen !== "";
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus>
      <span className="filter" data-set={isSet || undefined}>
        <Popover.Target>
          <button type="button" onClick={() => setOpen(!isOpen)}>
            {!isSet && <Icon name="plus" size={12} />}
            {label}
            {isSet && <b>{chosen}</b>}
          </button>
        </Popover.Target>
        {isSet && (
          <CloseButton
            size="xs"
            aria-label={`${messages.clearFilters}: ${label}`}
            onClick={clear}
          />
        )}
      </span>
      <Popover.Dropdown className="stack choices" aria-label={label}>
        {children}
      </Popover.Dropdown>
    </Popover>
  );
}
