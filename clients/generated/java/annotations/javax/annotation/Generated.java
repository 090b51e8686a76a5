package javax.annotation;

/** In place of JSR 250, which the generated code refers to and the JDK no longer has. */
public @interface Generated {
  String[] value();

  String date() default "";

  String comments() default "";
}
