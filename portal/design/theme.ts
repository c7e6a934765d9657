/**
 * Mantine's theme: small type and controls, because people work in the portal all day. The colours
 * of surfaces, lines and states are variables in `portal.css`, for light and dark.
 */
import {
  ActionIcon,
  Button,
  createTheme,
  Menu,
  Modal,
  PasswordInput,
  Popover,
  TextInput,
} from "@mantine/core";

// biome-ignore format: a table
const accent = [
  "#eef2ff", "#e0e7ff", "#c7d2fe", "#a5b4fc", "#818cf8", "#6366f1", "#4f46e5", "#4338ca", "#3730a3", "#312e81",
] as const;
/** From text to the ground, as Mantine counts them. */
// biome-ignore format: a table
const dark = [
  "#e8eaf1", "#c9cedb", "#9aa2b6", "#7d869c", "#323846", "#232733", "#181b23", "#101218", "#0b0d12", "#07080c",
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
    Button: Button.extend({ defaultProps: { size: "xs", fz: 13, fw: 500 } }),
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: "subtle", color: "gray" } }),
    TextInput: TextInput.extend({ defaultProps: { size: "sm" } }),
    PasswordInput: PasswordInput.extend({ defaultProps: { size: "sm" } }),
    Menu: Menu.extend({ defaultProps: { shadow: "md", width: 220, transitionProps: quick() } }),
    Popover: Popover.extend({ defaultProps: { shadow: "md", transitionProps: quick() } }),
    // The lock on scrolling adds a style element that has no nonce.
    Modal: Modal.extend({ defaultProps: { lockScroll: false, transitionProps: quick() } }),
  },
});

function quick() {
  return { duration: 80 };
}
