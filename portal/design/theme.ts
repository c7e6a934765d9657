/**
 * The theme of the Mantine components. Type and controls are small, because people work in the
 * portal all day. The colours of surfaces, lines and states are variables in `portal.css`.
 */
import { createTheme } from "@mantine/core";

/** The documentation and the payment page have the same accent colour. */
const accent = [
  "#eefaf8",
  "#d3f2ec",
  "#a8e4da",
  "#74d3c5",
  "#4fd1c0",
  "#1f9d90",
  "#0f766e",
  "#0c5f59",
  "#0a4b46",
  "#073733",
] as const;
/** The shades of the dark scheme from text to background, as Mantine expects. */
const dark = [
  "#e8eaf1",
  "#c9cedb",
  "#9aa2b6",
  "#7d869c",
  "#323846",
  "#232733",
  "#181b23",
  "#101218",
  "#0b0d12",
  "#07080c",
] as const;

export const theme = createTheme({
  primaryColor: "accent",
  primaryShade: 6,
  colors: { accent, dark },
  fontFamily: "Inter, ui-sans-serif, system-ui, -apple-system, Segoe UI, Roboto, sans-serif",
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
  radius: { xs: "4px", sm: "6px", md: "8px", lg: "12px", xl: "16px" },
  defaultRadius: "sm",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    // Components are named, because importing them here would load all of them at once.
    Button: { defaultProps: { size: "xs", fz: 13, fw: 500 } },
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray" } },
    TextInput: { defaultProps: { size: "sm" } },
    PasswordInput: { defaultProps: { size: "sm" } },
    Menu: { defaultProps: { shadow: "md", width: 220, transitionProps: quick() } },
    Popover: { defaultProps: { shadow: "md", transitionProps: quick() } },
    // The scroll lock is off: the content security policy blocks the lock's style element.
    Modal: { defaultProps: { lockScroll: false, transitionProps: quick() } },
  },
});

function quick() {
  return { duration: 80 };
}
