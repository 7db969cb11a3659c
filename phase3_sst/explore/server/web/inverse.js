export function build() {}
export function show() {}
export function told() {}
