// The height that a keyboard leaves, where it covers the page instead of making it smaller (iOS).

export function mountViewport() {
  const { visualViewport: visible } = window;
  if (!visible) return;
  const measure = () => {
    // A page that is enlarged by two fingers is not covered.
    const isCovered = visible.scale === 1 && visible.height < innerHeight - 1;
    document.documentElement.style.setProperty("--page-height", isCovered ? `${visible.height}px` : "100dvh");
    if (isCovered) scrollTo(0, 0);
  };
  visible.addEventListener("resize", measure);
}
