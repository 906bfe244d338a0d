// Tells the server the reader's time zone, so that times on the pages are theirs.
{
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone) document.cookie = `pipeweb_zone=${zone}; path=/; max-age=31536000; samesite=lax`;
}
