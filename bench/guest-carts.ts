/** Creates a guest cart of one line for each variant. */
export async function createGuestCarts(url: string, variantIds: readonly string[]) {
  const created: { guestToken: string; variantId: string }[] = []
  for (const variantId of variantIds) {
    const response = await fetch(`${url}/api/guest-cart`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ variant_id: variantId, quantity: 1 })
    })
    const { guest_cart_token } = (await response.json()) as { guest_cart_token: string }
    created.push({ guestToken: guest_cart_token, variantId })
  }
  return created
}
