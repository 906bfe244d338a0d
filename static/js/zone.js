// Stores the time zone of the browser in a cookie, which the server reads.
{
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone) document.cookie = `pipeweb_zone=${zone}; path=/; max-age=31536000; samesite=lax`;
}
