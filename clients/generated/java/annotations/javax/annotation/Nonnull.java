package javax.annotation;

/** In place of JSR 305, which the generated code refers to. */
public @interface Nonnull {}
