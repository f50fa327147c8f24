"""Container images."""

from __future__ import annotations

from rocport.facts.containers import container_images, development_image, pytorch_image


def test_every_image_has_a_source() -> None:
    assert all(image.source.startswith("https://") and image.sure for image in container_images())


def test_the_image_has_the_rocm_that_is_asked_for_then_the_ubuntu() -> None:
    assert development_image("24.04", "7.2").name == "rocm/dev-ubuntu-24.04:7.2-complete"
    assert development_image("22.04", "7.2.4").name == "rocm/dev-ubuntu-22.04:7.2.4-complete"
    assert development_image("22.04", "10.0").rocm == "10.0.0"
    assert development_image("24.04", "10.1.0").name == "rocm/dev-ubuntu-24.04:10.1.0-full"
    assert development_image("24.04", "7.14.1").ubuntu == "24.04"
    assert development_image("24.04", "5.1").ubuntu == "24.04"
    assert pytorch_image().name.startswith("rocm/pytorch")
