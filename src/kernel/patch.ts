/** Whether a PATCH changes no field. Then nothing is written and the version stays. */
export const isEmptyPatch = (body: object): boolean => Object.keys(body).length === 0
